/** Where the settings of a node come from: a file, the environment, and the command line. */
@NullMarked
package dev.tollgate.cli.configuration;

import org.jspecify.annotations.NullMarked;
