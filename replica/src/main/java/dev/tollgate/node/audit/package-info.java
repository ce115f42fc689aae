/**
 * Writes what auditors want to know into a file of its own, one JSON object a line. It never keeps
 * the thread that applies the log waiting.
 */
@NullMarked
package dev.tollgate.node.audit;

import org.jspecify.annotations.NullMarked;
