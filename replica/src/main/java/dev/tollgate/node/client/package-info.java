/** The node as clients know it: connections, sessions, and the path of a statement. */
@NullMarked
package dev.tollgate.node.client;

import org.jspecify.annotations.NullMarked;
