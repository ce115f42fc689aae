/**
 * The replicated state at work on this node: applying, looking, keeping time for leases while the
 * node leads, and showing it all as rows.
 */
@NullMarked
package dev.tollgate.node.replica;

import org.jspecify.annotations.NullMarked;
