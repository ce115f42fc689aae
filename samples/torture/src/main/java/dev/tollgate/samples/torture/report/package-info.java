/** A run in numbers, and as a picture. Pure: text out of evidence. */
@NullMarked
package dev.tollgate.samples.torture.report;

import org.jspecify.annotations.NullMarked;
