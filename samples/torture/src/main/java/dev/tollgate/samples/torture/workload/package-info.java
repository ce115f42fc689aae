/** The clients, which hold locks and write under them, and the probe. */
@NullMarked
package dev.tollgate.samples.torture.workload;

import org.jspecify.annotations.NullMarked;
