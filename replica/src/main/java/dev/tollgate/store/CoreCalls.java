package dev.tollgate.store;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.store.h2.ReplicaFailure;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The core, as a statement calls it from within H2. The core refuses by values. An exception of the
 * core is a broken invariant, which must stop the replica, although H2 stands between: here the
 * exception gets a type that no refusal of a statement has.
 */
final class CoreCalls implements SqlContext {
  private final SqlContext core;

  CoreCalls(SqlContext core) {
    this.core = core;
  }

  boolean isOf(SqlContext context) {
    return core == context;
  }

  private static <T extends @Nullable Object> T call(Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      throw new ReplicaFailure("the core failed in a statement", e);
    }
  }

  private static void run(Runnable call) {
    CoreCalls.<@Nullable Void>call(
        () -> {
          call.run();
          return null;
        });
  }

  @Override
  public LogPosition position() {
    return call(core::position);
  }

  @Override
  public long timeMicros() {
    return call(core::timeMicros);
  }

  @Override
  public RandomSeed randomSeed() {
    return call(core::randomSeed);
  }

  @Override
  public int attempt() {
    return call(core::attempt);
  }

  @Override
  public @Nullable SessionId transaction() {
    return CoreCalls.<@Nullable SessionId>call(core::transaction);
  }

  @Override
  public String schema() {
    return call(core::schema);
  }

  @Override
  public TimeZoneName timeZone() {
    return call(core::timeZone);
  }

  @Override
  public UserName user() {
    return call(core::user);
  }

  @Override
  public int workLimit() {
    return call(core::workLimit);
  }

  @Override
  public boolean mayUse(String grantee, TableName sequence) {
    return call(() -> core.mayUse(grantee, sequence));
  }

  @Override
  public Outcome.@Nullable Refused admit(
      Operation.@Nullable StatementFence clause, Collection<FenceId> fences) {
    return CoreCalls.<Outcome.@Nullable Refused>call(() -> core.admit(clause, fences));
  }

  @Override
  public Outcome.@Nullable Refused admitRow(FenceId fence, LockName lock) {
    return CoreCalls.<Outcome.@Nullable Refused>call(() -> core.admitRow(fence, lock));
  }

  @Override
  public Outcome.@Nullable Refused admitAllRows(FenceId fence, LockName lock) {
    return CoreCalls.<Outcome.@Nullable Refused>call(() -> core.admitAllRows(fence, lock));
  }

  @Override
  public void completed() {
    run(core::completed);
  }

  @Override
  public FenceId createFence(TableName table, Operation.FenceTerms terms) {
    return call(() -> core.createFence(table, terms));
  }

  @Override
  public void renameFence(FenceId fence, TableName table) {
    run(() -> core.renameFence(fence, table));
  }

  @Override
  public TableName tableOf(FenceId fence) {
    return call(() -> core.tableOf(fence));
  }

  @Override
  public Operation.FenceTerms termsOf(FenceId fence) {
    return call(() -> core.termsOf(fence));
  }

  @Override
  public void dropFence(FenceId fence) {
    run(() -> core.dropFence(fence));
  }

  @Override
  public Outcome holdsLock(LockName lock, long token) {
    return call(() -> core.holdsLock(lock, token));
  }

  @Override
  public Outcome lockToken(LockName lock) {
    return call(() -> core.lockToken(lock));
  }

  @Override
  public Outcome perform(Operation operation) {
    return call(() -> core.perform(operation));
  }
}
