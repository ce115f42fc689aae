/**
 * What the grammar makes of a statement: the vocabulary between the generated parser, which builds
 * these nodes, and the checks in {@code dev.tollgate.sql}, which read them. Nothing here knows of
 * plans or of rules.
 *
 * <p>The classes are public because the generated parser lives in a package of its own; they are no
 * part of the API.
 */
@NullMarked
package dev.tollgate.sql.tree;

import org.jspecify.annotations.NullMarked;
