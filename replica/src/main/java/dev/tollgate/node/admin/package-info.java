/** The admin address of a node: metrics, health and what operators look at, over HTTP. */
@NullMarked
package dev.tollgate.node.admin;

import org.jspecify.annotations.NullMarked;
