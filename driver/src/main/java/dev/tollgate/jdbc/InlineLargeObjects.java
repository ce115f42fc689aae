package dev.tollgate.jdbc;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.io.InputStream;
import java.io.Reader;
import org.h2.message.DbException;
import org.h2.store.DataHandler;
import org.h2.store.FileStore;
import org.h2.store.LobStorageInterface;
import org.h2.util.SmallLRUCache;
import org.h2.util.TempFileDeleter;
import org.h2.value.CompareMode;
import org.h2.value.ValueBlob;
import org.h2.value.ValueClob;
import org.h2.value.ValueLob;
import org.jspecify.annotations.Nullable;

/**
 * A data handler for large objects, which are sent and stored whole, never in parts. Most of the
 * calls that H2 makes on a data handler cannot happen here.
 */
final class InlineLargeObjects implements DataHandler, LobStorageInterface {
  private static final int BUFFER = 8192;
  private final CompareMode compareMode = CompareMode.getInstance(null, 0);

  @Override
  public ValueClob createClob(Reader reader, long maxLength) {
    long limit = limit(maxLength);
    StringBuilder text = new StringBuilder();
    char[] buffer = new char[BUFFER];
    try {
      while (text.length() < limit) {
        int count = reader.read(buffer, 0, (int) Math.min(BUFFER, limit - text.length()));
        if (count < 0) {
          break;
        }
        text.append(buffer, 0, count);
      }
    } catch (IOException | RuntimeException e) {
      throw notRead(e);
    }
    requireFits(text.length());
    return ValueClob.createSmall(text.toString());
  }

  @Override
  public ValueBlob createBlob(InputStream in, long maxLength) {
    byte[] bytes;
    try {
      bytes = in.readNBytes((int) limit(maxLength));
    } catch (IOException | RuntimeException e) {
      throw notRead(e);
    }
    requireFits(bytes.length);
    return ValueBlob.createSmall(bytes);
  }

  /** Whatever a stream of the application throws, the stream has failed, and not the driver. */
  private static DbException notRead(Exception e) {
    return DbException.convertIOException(
        e instanceof IOException io ? io : new IOException(e.toString(), e), null);
  }

  /** The read limit: at most one more than fits a frame, so that too large an object is noticed. */
  private static long limit(long maxLength) {
    long most = Protocol.MAX_FRAME_BYTES + 1L;
    return maxLength < 0 ? most : Math.min(maxLength, most);
  }

  private static void requireFits(int length) {
    if (length > Protocol.MAX_FRAME_BYTES) {
      throw DbException.convert(
          JdbcErrors.exception(
              SqlState.TOO_LARGE,
              "A large object is longer than " + Protocol.MAX_FRAME_BYTES + ": that is the most"));
    }
  }

  @Override
  public LobStorageInterface getLobStorage() {
    return this;
  }

  @Override
  public ValueLob copyLob(ValueLob old, int tableId) {
    return old;
  }

  @Override
  public void removeLob(ValueLob lob) {}

  @Override
  public void removeAllForTable(int tableId) {}

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public InputStream getInputStream(long lobId, long byteCount) {
    throw cannotHappen();
  }

  @Override
  public InputStream getInputStream(long lobId, int tableId, long byteCount) {
    throw cannotHappen();
  }

  @Override
  public int readLob(long lobId, byte[] hmac, long offset, byte[] buff, int off, int length) {
    throw cannotHappen();
  }

  @Override
  public FileStore openFile(String name, String mode, boolean mustExist) {
    throw cannotHappen();
  }

  private static RuntimeException cannotHappen() {
    return DbException.getInternalError("large objects are inline");
  }

  @Override
  public String getDatabasePath() {
    return "";
  }

  @Override
  public void checkPowerOff() {}

  @Override
  public void checkWritingAllowed() {}

  @Override
  public int getMaxLengthInplaceLob() {
    return Integer.MAX_VALUE;
  }

  @Override
  public TempFileDeleter getTempFileDeleter() {
    return TempFileDeleter.getInstance();
  }

  @Override
  public Object getLobSyncObject() {
    return this;
  }

  /** Returns null: there is no cache. */
  @Override
  public @Nullable SmallLRUCache<String, String[]> getLobFileListCache() {
    return null;
  }

  @Override
  public CompareMode getCompareMode() {
    return compareMode;
  }
}
