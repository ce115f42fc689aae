/**
 * The replicated log on Apache Ratis: entries, leadership, membership, and the directory of a node.
 * Only this package reaches into the internals of Ratis.
 */
@NullMarked
package dev.tollgate.log.ratis;

import org.jspecify.annotations.NullMarked;
