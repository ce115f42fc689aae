package dev.tollgate.history;

import dev.tollgate.history.Answer.Nothing;
import dev.tollgate.history.Answer.Refused;
import dev.tollgate.history.Answer.Unknown;
import dev.tollgate.history.Answer.Value;
import dev.tollgate.wire.SqlState;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a client may ask of a {@link Cell}, and which answers the cell can give in which state. One
 * without an answer is explained by what it does if it takes effect.
 */
sealed interface CellRequest {
  /** The cell afterwards; empty if it cannot have given this answer. */
  Optional<Cell> explain(Cell cell, Answer answer);

  /** Whether an answer that is missing could have changed anything. */
  boolean changes();

  private static Optional<Cell> only(boolean possible, Cell after) {
    return possible ? Optional.of(after) : Optional.empty();
  }

  private static boolean is(Answer answer, SqlState state) {
    return answer.equals(new Refused(state.state()));
  }

  /** Names a lease, whose life it depends on. */
  sealed interface OfLease extends CellRequest {
    long lease();
  }

  /**
   * A token, or NULL where somebody else holds the lock.
   *
   * @param waits acquire_lock, not try_acquire_lock
   */
  record Acquire(long lease, boolean waits) implements OfLease {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      boolean ended = cell.hasEnded(lease);
      if (is(answer, SqlState.LEASE_GONE)) {
        return only(ended, cell);
      }
      if (answer instanceof Unknown) {
        return Optional.of(ended || cell.isHeld() ? cell : cell.granted(lease));
      }
      if (ended) {
        return Optional.empty();
      }
      boolean mine = cell.holder() == lease;
      if (answer instanceof Value token) {
        return mine
            ? cell.heldUnder(token.number())
            : cell.isHeld() ? Optional.empty() : cell.granted(lease, token.number());
      }
      return only(answer instanceof Nothing && cell.isHeld() && !mine, cell);
    }

    @Override
    public boolean changes() {
      return true;
    }
  }

  /** release_lock: whether the lease held the lock. */
  record Release(long lease) implements OfLease {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      boolean mine = cell.holder() == lease;
      if (is(answer, SqlState.LEASE_GONE)) {
        return only(cell.hasEnded(lease), cell);
      }
      if (answer instanceof Unknown) {
        return Optional.of(mine ? cell.released() : cell);
      }
      return cell.hasEnded(lease) || !answer.equals(Answer.of(mine))
          ? Optional.empty()
          : Optional.of(mine ? cell.released() : cell);
    }

    @Override
    public boolean changes() {
      return true;
    }
  }

  /** force_release_lock: whether anybody held the lock. */
  record ForceRelease() implements CellRequest {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      return only(
          answer instanceof Unknown || answer.equals(Answer.of(cell.isHeld())),
          cell.isHeld() ? cell.released() : cell);
    }

    @Override
    public boolean changes() {
      return true;
    }
  }

  /** lock_token. */
  record ReadToken() implements CellRequest {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      return answer instanceof Value token
          ? cell.heldUnder(token.number())
          : only(answer instanceof Nothing && !cell.isHeld(), cell);
    }

    @Override
    public boolean changes() {
      return false;
    }
  }

  /** holds_lock: whether the lock is held under this token. */
  record HoldsLock(long token) implements CellRequest {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      return answer.equals(Answer.of(true))
          ? cell.heldUnder(token)
          : only(answer.equals(Answer.of(false)) && !cell.heldUnderCertainly(token), cell);
    }

    @Override
    public boolean changes() {
      return false;
    }
  }

  /** renew_lease: the lease lives, or is no more. */
  record Renew(long lease) implements OfLease {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      boolean lives = answer instanceof Value left && left.number() > 0;
      boolean gone = is(answer, SqlState.LEASE_GONE);
      return only(cell.hasEnded(lease) ? gone : lives, cell);
    }

    @Override
    public boolean changes() {
      return false;
    }
  }

  /** revoke_lease: whether the lease lived. */
  record Revoke(long lease) implements OfLease {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      return only(
          answer instanceof Unknown || answer.equals(Answer.of(!cell.hasEnded(lease))),
          cell.withoutLease(lease));
    }

    @Override
    public boolean changes() {
      return true;
    }
  }

  /**
   * Time ends a lease, and answers nothing.
   *
   * @param told whether anybody is told; if not, nobody knows of it but who waits for its lock
   */
  record EndLease(long lease, boolean told) implements OfLease {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      return Optional.of(told || cell.holder() == lease ? cell.withoutLease(lease) : cell);
    }

    @Override
    public boolean changes() {
      return true;
    }
  }

  /** SELECT of the register. */
  record Read() implements CellRequest {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      return only(answer.equals(Answer.of(cell.value())), cell);
    }

    @Override
    public boolean changes() {
      return false;
    }
  }

  /**
   * UPDATE of the register.
   *
   * @param expected the value that it has to have, or it stays as it is
   * @param token that is shown
   */
  record Write(OptionalLong expected, long value, OptionalLong token) implements CellRequest {
    @Override
    public Optional<Cell> explain(Cell cell, Answer answer) {
      if (is(answer, SqlState.STALE_TOKEN)) {
        return only(token.isPresent() && !cell.heldUnderCertainly(token.getAsLong()), cell);
      }
      Optional<Cell> admitted =
          token.isPresent() ? cell.heldUnder(token.getAsLong()) : Optional.of(cell);
      boolean hit = expected.isEmpty() || expected.getAsLong() == cell.value();
      if (answer instanceof Unknown) {
        return Optional.of(hit ? admitted.map(fenced -> fenced.with(value)).orElse(cell) : cell);
      }
      return answer.equals(Answer.of(hit))
          ? admitted.map(fenced -> hit ? fenced.with(value) : fenced)
          : Optional.empty();
    }

    @Override
    public boolean changes() {
      return true;
    }
  }
}
