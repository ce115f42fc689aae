/** The nodes under torture: their processes, their network, their clocks and disks. */
@NullMarked
package dev.tollgate.samples.torture.cluster;

import org.jspecify.annotations.NullMarked;
