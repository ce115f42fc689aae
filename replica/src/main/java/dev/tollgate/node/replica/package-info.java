/**
 * The replicated state at work on this node: applies entries, answers reads, keeps time for leases
 * while leading, and shows it all as rows.
 */
@NullMarked
package dev.tollgate.node.replica;

import org.jspecify.annotations.NullMarked;
