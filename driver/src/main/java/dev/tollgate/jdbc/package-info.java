/**
 * The JDBC driver: H2's own JDBC classes over a session with a cluster.
 *
 * <p>{@link dev.tollgate.jdbc.TollgateConnection} is H2's connection with the methods changed that
 * mean something else, or more, for a cluster. H2's statements and result sets come to {@code
 * TollgateSession} for commands; a {@code TollgateCommand} turns into one request and its answer
 * into a {@code PagedResult}.
 */
@NullMarked
package dev.tollgate.jdbc;

import org.jspecify.annotations.NullMarked;
