package dev.tollgate.simulation;

import java.util.random.RandomGenerator;

/** How clients work in a run, how patient they and the nodes are, and how much goes wrong. */
enum Workload {
  /** Statements without end, leases of a second or some, and faults at each other's heels. */
  DENSE {
    @Override
    int thinkMillis(RandomGenerator random) {
      return 10 + random.nextInt(600);
    }

    @Override
    int restMillis(RandomGenerator random) {
      return 500 + random.nextInt(8_500);
    }

    @Override
    int leaseMillis(RandomGenerator random) {
      return 800 + random.nextInt(6_000);
    }

    @Override
    int moreThanLeaseMillis(RandomGenerator random) {
      return 1_000 + random.nextInt(8_000);
    }

    @Override
    int shortSessionMillis(RandomGenerator random) {
      return 1_000 + random.nextInt(1_000);
    }

    @Override
    int createdLeaseMillis(RandomGenerator random) {
      return 500 + random.nextInt(5_000);
    }

    @Override
    int waitMillis(RandomGenerator random) {
      return 300 + random.nextInt(4_000);
    }

    @Override
    int electionMillis(RandomGenerator random) {
      return 300;
    }

    @Override
    int betweenFaultsMillis(RandomGenerator random) {
      return 1_000 + random.nextInt(8_000);
    }

    @Override
    int longestFaultMillis() {
      return 12_000;
    }

    @Override
    int healingMillis() {
      return 25_000;
    }

    @Override
    int endMillis() {
      return 40_000;
    }
  },

  /**
   * Leases of some seconds to minutes, and clients that act in bursts, with seconds or a minute
   * between. A fault comes every five to twenty seconds on average, one run with another every
   * eleven.
   */
  SPARSE {
    @Override
    int thinkMillis(RandomGenerator random) {
      return 2_000 + random.nextInt(60_000);
    }

    @Override
    int restMillis(RandomGenerator random) {
      return 10_000 + random.nextInt(60_000);
    }

    @Override
    int leaseMillis(RandomGenerator random) {
      return (int) (4_000 * Math.pow(45, random.nextDouble()));
    }

    @Override
    int moreThanLeaseMillis(RandomGenerator random) {
      return 1_000 + random.nextInt(60_000);
    }

    @Override
    int shortSessionMillis(RandomGenerator random) {
      return 3_000 + random.nextInt(17_000);
    }

    @Override
    int createdLeaseMillis(RandomGenerator random) {
      return 3_000 + random.nextInt(120_000);
    }

    @Override
    int waitMillis(RandomGenerator random) {
      return 1_000 + random.nextInt(60_000);
    }

    @Override
    int electionMillis(RandomGenerator random) {
      return 300 + random.nextInt(900);
    }

    @Override
    int betweenFaultsMillis(RandomGenerator random) {
      return 5_000 + random.nextInt(15_000);
    }

    @Override
    int longestFaultMillis() {
      return 40_000;
    }

    @Override
    int healingMillis() {
      return 120_000;
    }

    @Override
    int endMillis() {
      return 300_000;
    }
  };

  /** How often a client that has just been answered goes on at once. */
  double burst() {
    return this == DENSE ? 0 : 0.5;
  }

  /** The longest usual pause between two statements of a session; drawn once for a run. */
  abstract int thinkMillis(RandomGenerator random);

  /** A pause that is longer than usual. */
  abstract int restMillis(RandomGenerator random);

  /** The ttl of the own lease of a session. */
  abstract int leaseMillis(RandomGenerator random);

  /** By how much a session outlives its lease. */
  abstract int moreThanLeaseMillis(RandomGenerator random);

  /** The ttl of a session that may end before its lease. */
  abstract int shortSessionMillis(RandomGenerator random);

  /** The ttl of a lease that a statement creates. */
  abstract int createdLeaseMillis(RandomGenerator random);

  /** How long somebody waits for a lock. */
  abstract int waitMillis(RandomGenerator random);

  /** The longest time for which a released lock is kept. */
  int longestKeepMillis() {
    return this == DENSE ? 4_300 : 61_000;
  }

  /** The shortest silence after which a leader is replaced; drawn once for a run. */
  abstract int electionMillis(RandomGenerator random);

  /** The mean of the time from a fault to the next; drawn once for a run. */
  abstract int betweenFaultsMillis(RandomGenerator random);

  abstract int longestFaultMillis();

  /** After the last fault, in which somebody has to be answered. */
  abstract int healingMillis();

  /** In which all leases end once their clients are dead. */
  abstract int endMillis();
}
