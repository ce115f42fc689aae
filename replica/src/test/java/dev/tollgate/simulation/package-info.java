/**
 * A cluster, its network, its disks, its clocks and its clients in one thread and from one seed:
 * the product's own core, database, pipeline, time keeper and client connections, on a log and
 * under clients that are simulated. See docs/verification.md.
 */
@NullMarked
package dev.tollgate.simulation;

import org.jspecify.annotations.NullMarked;
