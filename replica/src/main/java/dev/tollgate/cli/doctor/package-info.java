/** Checks whether a host suits a node, before or while the node runs. */
@NullMarked
package dev.tollgate.cli.doctor;

import org.jspecify.annotations.NullMarked;
