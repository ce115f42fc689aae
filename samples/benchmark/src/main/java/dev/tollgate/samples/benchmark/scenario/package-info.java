/** What the systems are asked to do, one class a scenario. */
@NullMarked
package dev.tollgate.samples.benchmark.scenario;

import org.jspecify.annotations.NullMarked;
