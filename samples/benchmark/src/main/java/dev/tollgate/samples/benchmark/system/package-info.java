/**
 * The systems under test: how their servers are started, and their locks through their own Java
 * clients.
 */
@NullMarked
package dev.tollgate.samples.benchmark.system;

import org.jspecify.annotations.NullMarked;
