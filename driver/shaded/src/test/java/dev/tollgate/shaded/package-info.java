/** Tests of the published jar; what is in this package in that jar are H2's classes. */
package dev.tollgate.shaded;
