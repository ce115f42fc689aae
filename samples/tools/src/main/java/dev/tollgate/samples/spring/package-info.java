/** Spring's JdbcTemplate and KeyHolder, with a report that one process at a time may write. */
@NullMarked
package dev.tollgate.samples.spring;

import org.jspecify.annotations.NullMarked;
