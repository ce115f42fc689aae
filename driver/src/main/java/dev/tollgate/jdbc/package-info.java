/**
 * The JDBC driver: H2's own JDBC classes over a session with a cluster.
 *
 * <p>{@link dev.tollgate.jdbc.TollgateConnection} is H2's connection. It overrides the methods that
 * mean something else, or more, for a cluster. H2's statements and result sets get their commands
 * from {@code TollgateSession}. A {@code TollgateCommand} turns into one request, or into several
 * for a large batch. The rows of a reply turn into a {@code PagedResult}.
 */
@NullMarked
package dev.tollgate.jdbc;

import org.jspecify.annotations.NullMarked;
