/** What a database tool sees. */
@NullMarked
package dev.tollgate.samples.metadata;

import org.jspecify.annotations.NullMarked;
