/**
 * The way between the nodes of a cluster: who may talk with whom, and the messages of Ratis over
 * sockets.
 */
@NullMarked
package dev.tollgate.log.peer;

import org.jspecify.annotations.NullMarked;
