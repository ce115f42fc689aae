/**
 * TLS with the JDK alone: certificates and keys from files, which may change while connections
 * live, and TLS over a blocking socket. The driver uses this package, and so do nodes.
 */
@NullMarked
package dev.tollgate.tls;

import org.jspecify.annotations.NullMarked;
