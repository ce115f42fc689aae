package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Network;
import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Cuts between nodes. In one form the clients are divided too, in the others they reach every node.
 */
final class Partition implements Fault {
  private static final int FORMS = 6;

  @Override
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    return switch (scene.random().nextInt(FORMS)) {
      case 0 -> alone(scene, scene.leader());
      case 1 -> alone(scene, scene.follower());
      case 2 -> sides(scene);
      case 3 -> deaf(scene);
      case 4 -> mute(scene);
      default -> oneLink(scene);
    };
  }

  private static Injury alone(Scene scene, Node node) throws IOException, InterruptedException {
    for (Node other : scene.others(node)) {
      cutBothWays(scene.cluster().network(), node.host(), other.host());
    }
    return injury(scene, scene.names(List.of(node)) + " cut off from the other nodes", node);
  }

  /** Cuts the leader, the rest of a minority and half of the clients off from the others. */
  private static Injury sides(Scene scene) throws IOException, InterruptedException {
    Network network = scene.cluster().network();
    List<Node> others = scene.others(scene.leader());
    List<Node> minority = new ArrayList<>(List.of(scene.leader()));
    minority.addAll(others.subList(0, scene.cluster().minority() - 1));
    others.removeAll(minority);
    int left = scene.clientHosts().get(0);
    int right = scene.clientHosts().get(1);
    for (Node one : minority) {
      cutBothWays(network, one.host(), right);
      for (Node other : others) {
        cutBothWays(network, one.host(), other.host());
      }
    }
    for (Node other : others) {
      cutBothWays(network, left, other.host());
    }
    Injury injury =
        injury(
            scene,
            scene.names(minority) + " and half of the clients cut off from the rest",
            minority.toArray(new Node[0]));
    return new Injury(
        injury.detail(), injury.nodes(), injury.leavesQuorum(), Set.of(left), injury.healing());
  }

  private static Injury deaf(Scene scene) throws IOException, InterruptedException {
    for (Node other : scene.others(scene.leader())) {
      scene.cluster().network().cut(other.host(), scene.leader().host());
    }
    return injury(
        scene, scene.names(List.of(scene.leader())) + " hears no other node", scene.leader());
  }

  private static Injury mute(Scene scene) throws IOException, InterruptedException {
    for (Node other : scene.others(scene.leader())) {
      scene.cluster().network().cut(scene.leader().host(), other.host());
    }
    return injury(
        scene, scene.names(List.of(scene.leader())) + " is heard by no other node", scene.leader());
  }

  /** Cuts one link, so that connections are not transitive: a third node reaches both. */
  private static Injury oneLink(Scene scene) throws IOException, InterruptedException {
    Node follower = scene.follower();
    cutBothWays(scene.cluster().network(), scene.leader().host(), follower.host());
    return injury(
        scene,
        "no link between " + scene.names(List.of(scene.leader(), follower)),
        scene.leader(),
        follower);
  }

  private static void cutBothWays(Network network, int one, int other)
      throws IOException, InterruptedException {
    network.cut(one, other);
    network.cut(other, one);
  }

  private static Injury injury(Scene scene, String detail, Node... nodes) {
    return Injury.of(detail, List.of(nodes), true, scene.cluster().network()::heal);
  }
}
