package dev.tollgate.snapshot;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The passphrase of encrypted backups. Never part of a message. Keeps the last key that was derived
 * from it, because a restore reads its file twice. Not thread-safe.
 */
public final class Passphrase {
  /** Characters of a passphrase; a file with more is another file. */
  public static final int MOST_CHARS = 1_000;

  private static final int MOST_FILE_BYTES = 4 * MOST_CHARS + 2;
  private static final int KEY_BITS = 256;

  private final char[] characters;
  private byte[] lastSalt = {};
  private int lastIterations;
  private @Nullable SecretKey lastKey;

  private Passphrase(char[] characters) {
    this.characters = characters;
  }

  /**
   * Reads a file of one line, in UTF-8; what ends the line is no part of the passphrase.
   *
   * @throws IOException if it has no line, or several
   */
  public static Passphrase read(Path file) throws IOException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MOST_FILE_BYTES + 1);
    }
    CharBuffer text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
    } catch (CharacterCodingException e) {
      throw new IOException("the passphrase file " + file + " is no text in UTF-8", e);
    } finally {
      Arrays.fill(bytes, (byte) 0);
    }
    int length = text.length();
    if (length > 0 && text.get(length - 1) == '\n') {
      length--;
    }
    if (length > 0 && text.get(length - 1) == '\r') {
      length--;
    }
    char[] line = new char[length];
    text.get(line);
    return of(line, "the passphrase file " + file);
  }

  static Passphrase of(char[] characters, String where) throws IOException {
    if (characters.length == 0) {
      throw new IOException(where + " is empty: write the passphrase into it, in one line");
    }
    if (characters.length > MOST_CHARS) {
      throw new IOException(where + " has more than " + MOST_CHARS + " characters");
    }
    for (char character : characters) {
      if (character == '\n' || character == '\r') {
        throw new IOException(where + " has more than one line");
      }
    }
    return new Passphrase(characters.clone());
  }

  /** Derives a key for AES-256 by PBKDF2 with HMAC-SHA-256. Takes some tenths of a second. */
  SecretKey key(byte[] salt, int iterations) {
    SecretKey key = lastKey;
    if (key == null || iterations != lastIterations || !Arrays.equals(salt, lastSalt)) {
      key = derive(salt, iterations);
      lastKey = key;
      lastSalt = salt.clone();
      lastIterations = iterations;
    }
    return key;
  }

  private SecretKey derive(byte[] salt, int iterations) {
    PBEKeySpec spec = new PBEKeySpec(characters, salt, iterations, KEY_BITS);
    try {
      byte[] key =
          SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded();
      return new SecretKeySpec(key, "AES");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java platform has PBKDF2WithHmacSHA256", e);
    } finally {
      spec.clearPassword();
    }
  }

  @Override
  public String toString() {
    return "passphrase";
  }
}
