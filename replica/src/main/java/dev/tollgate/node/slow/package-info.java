/**
 * What is slow at this node, and who holds or waits for a lock for long: records of limited number
 * in memory, and log lines of limited number.
 */
@NullMarked
package dev.tollgate.node.slow;

import org.jspecify.annotations.NullMarked;
