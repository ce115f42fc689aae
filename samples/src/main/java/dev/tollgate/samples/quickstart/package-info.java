/** The worker of samples/quickstart.sh. */
@NullMarked
package dev.tollgate.samples.quickstart;

import org.jspecify.annotations.NullMarked;
