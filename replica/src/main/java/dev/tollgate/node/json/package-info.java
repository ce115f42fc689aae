/** How parts of a node write JSON. */
@NullMarked
package dev.tollgate.node.json;

import org.jspecify.annotations.NullMarked;
