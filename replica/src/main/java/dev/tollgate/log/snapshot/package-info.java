/** The snapshots of a node on its disk: written while it serves, verified, and handed to Ratis. */
@NullMarked
package dev.tollgate.log.snapshot;

import org.jspecify.annotations.NullMarked;
