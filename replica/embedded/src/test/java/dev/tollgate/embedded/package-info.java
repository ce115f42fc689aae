/** Tests of the published jar; what is in this package in that jar are classes of others. */
package dev.tollgate.embedded;
