/**
 * A node, put together from its parts. Only the command line and the embedding of nodes stand
 * above.
 */
@NullMarked
package dev.tollgate.node;

import org.jspecify.annotations.NullMarked;
