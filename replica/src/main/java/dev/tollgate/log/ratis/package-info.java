/**
 * The replicated log on Apache Ratis: entries, leadership, membership, and the directory of a node.
 * What Ratis keeps to itself is reached from here alone.
 */
@NullMarked
package dev.tollgate.log.ratis;

import org.jspecify.annotations.NullMarked;
