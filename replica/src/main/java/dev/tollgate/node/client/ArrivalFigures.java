package dev.tollgate.node.client;

/**
 * The connections of a node.
 *
 * @param clients connections of clients that have said who they are
 * @param strangers connections that have not
 * @param refused clients for which there was no room
 * @param closed connections that the node closed because they said nothing, or stopped within a
 *     request, or had to make room for newer ones
 */
public record ArrivalFigures(int clients, int strangers, long refused, long closed) {
  /** Of a node that opens no port. */
  public static final ArrivalFigures NONE = new ArrivalFigures(0, 0, 0, 0);
}
