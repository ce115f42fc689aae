/** A job queue, of which a limited number of workers work at a time. */
@NullMarked
package dev.tollgate.samples.jobs;

import org.jspecify.annotations.NullMarked;
