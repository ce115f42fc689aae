/**
 * Encryption of what a node keeps on its disk (ADR 0124): the data keys of the node, and the bytes
 * of sealed log entries and sealed files. This package knows neither what it seals nor where that
 * is kept.
 */
@NullMarked
package dev.tollgate.seal;

import org.jspecify.annotations.NullMarked;
