/* CREATE, ALTER and DROP LOCK, and LOCKED BY, the clause with which a statement takes a lock itself. */

/** CREATE LOCK [IF NOT EXISTS] name PERMITS n, ALTER LOCK [IF EXISTS] name PERMITS n, DROP LOCK [IF EXISTS] name */
Statement ConfigureLockStatement() :
{
    final String verb;
    final boolean lenient;
    final SqlNode lock;
    SqlNode permits = null;
}
{
    (
        <CREATE> { verb = "CREATE"; } Word("LOCK") lenient = IfNotExists() lock = LockName() permits = Permits()
    |
        <ALTER> { verb = "ALTER"; } Word("LOCK") lenient = IfExists() lock = LockName() permits = Permits()
    |
        <DROP> { verb = "DROP"; } Word("LOCK") lenient = IfExists() lock = LockName()
    )
    { return new Statement.ConfigureLock(verb, lenient, lock, permits); }
}

SqlNode Permits() :
{ final SqlNode permits; }
{
    Word("PERMITS") permits = IntegerOrParameter()
    { return permits; }
}

/** LOCKED BY name */
LockClause LockClause() :
{
    final SqlParserPos start;
    final SqlNode lock;
}
{
    <LOCKED> { start = getPos(); } <BY> lock = LockName()
    { return new LockClause(start, lock); }
}
