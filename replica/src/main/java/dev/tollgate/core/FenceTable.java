package dev.tollgate.core;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.TableName;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The fences of tables, in order of creation. */
final class FenceTable {
  private final Map<FenceId, Fence> fences = new LinkedHashMap<>();
  private long lastId;

  Fence create(TableName table, Operation.FenceTerms terms) {
    Fence fence = new Fence(new FenceId(++lastId), table, terms);
    fences.put(fence.id(), fence);
    return fence;
  }

  /** The fence with this id, or null if it has been removed. */
  @Nullable Fence find(FenceId id) {
    return fences.get(id);
  }

  /**
   * The fence with this id.
   *
   * @throws IllegalStateException if there is none: store and core disagree, so the replica must
   *     stop
   */
  Fence existing(FenceId id) {
    Fence fence = fences.get(id);
    if (fence == null) {
      throw new IllegalStateException("no fence " + id);
    }
    return fence;
  }

  void remove(FenceId id) {
    existing(id);
    fences.remove(id);
  }

  long lastId() {
    return lastId;
  }

  void restoreLastId(long id) {
    lastId = id;
  }

  void restore(StateRecord.FenceState state) {
    fences.put(state.id(), new Fence(state));
  }

  Collection<Fence> all() {
    return Collections.unmodifiableCollection(fences.values());
  }
}
