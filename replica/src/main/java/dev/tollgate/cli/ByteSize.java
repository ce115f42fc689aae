package dev.tollgate.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a number of bytes: {@code 512k}, {@code 64m} or {@code 1g}, in powers of 1024. */
final class ByteSize implements ITypeConverter<Long> {
  private static final Pattern SIZE = Pattern.compile("([0-9]{1,6})([kmg])");

  ByteSize() {}

  @Override
  public Long convert(String value) {
    Matcher size = SIZE.matcher(value);
    if (!size.matches()) {
      throw new TypeConversionException("'" + value + "' is no size: write 512k, 64m or 1g");
    }
    int shift =
        switch (size.group(2)) {
          case "k" -> 10;
          case "m" -> 20;
          default -> 30;
        };
    return Long.parseLong(size.group(1)) << shift;
  }
}
