/**
 * A Spring Boot service whose instances share a scheduled job. Run it: {@code
 * samples/spring-boot/run.sh}.
 */
@NullMarked
package dev.tollgate.samples.invoices;

import org.jspecify.annotations.NullMarked;
