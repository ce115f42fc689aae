/** The jOOQ DSL against a fenced table. */
@NullMarked
package dev.tollgate.samples.jooq;

import org.jspecify.annotations.NullMarked;
