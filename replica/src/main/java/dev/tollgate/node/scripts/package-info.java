/** Locks, leases and SQL as HTTP and JSON on the admin address, for scripts. */
@NullMarked
package dev.tollgate.node.scripts;

import org.jspecify.annotations.NullMarked;
