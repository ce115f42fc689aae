/** What is measured, how rounds become medians and ratios, and how they are shown. */
@NullMarked
package dev.tollgate.samples.benchmark.measure;

import org.jspecify.annotations.NullMarked;
