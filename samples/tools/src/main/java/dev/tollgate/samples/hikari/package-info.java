/** HikariCP: a pool, and a lease that belongs to the work and not to a connection. */
@NullMarked
package dev.tollgate.samples.hikari;

import org.jspecify.annotations.NullMarked;
