/**
 * A cluster for tests that speaks the protocol and runs SQL on a plain H2 database, each statement
 * in its own transaction. It knows no Raft and no lock: what it has is switches for all that can go
 * wrong between a driver and a node.
 */
package dev.tollgate.fake;
