/**
 * The nodes of a parsed statement. The generated parser builds these nodes, and the checks in
 * {@code dev.tollgate.sql} read them. Nothing here knows of plans or of rules.
 *
 * <p>The classes are public because the generated parser lives in a package of its own; they are
 * not part of the API.
 */
@NullMarked
package dev.tollgate.sql.tree;

import org.jspecify.annotations.NullMarked;
