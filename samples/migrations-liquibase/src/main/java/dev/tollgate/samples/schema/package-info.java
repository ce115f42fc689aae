/** An application that brings its tables up to date when it starts. */
@NullMarked
package dev.tollgate.samples.schema;

import org.jspecify.annotations.NullMarked;
