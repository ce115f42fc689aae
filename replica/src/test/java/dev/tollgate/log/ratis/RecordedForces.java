package dev.tollgate.log.ratis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * What this process syncs to the disk between two moments: the JVM's own recorder reports each
 * {@code FileChannel.force}, also those of Ratis.
 */
public final class RecordedForces implements AutoCloseable {
  private static final String FORCE = "jdk.FileForce";

  private final Recording recording = new Recording();

  public RecordedForces() {
    recording.enable(FORCE).withoutThreshold().withoutStackTrace();
    recording.start();
  }

  /** Ends the recording, and returns what was synced within a directory, in order. */
  public List<Path> in(Path directory) throws IOException {
    recording.stop();
    Path file = Files.createTempFile("forces", ".jfr");
    try {
      recording.dump(file);
      List<Path> forced = new ArrayList<>();
      List<RecordedEvent> events = new ArrayList<>(RecordingFile.readAllEvents(file));
      // each thread has a buffer of its own
      events.sort(Comparator.comparing(RecordedEvent::getStartTime));
      for (RecordedEvent event : events) {
        if (event.getEventType().getName().equals(FORCE)) {
          Path path = Path.of(event.getString("path"));
          if (path.startsWith(directory)) {
            forced.add(path);
          }
        }
      }
      return forced;
    } finally {
      Files.delete(file);
    }
  }

  @Override
  public void close() {
    recording.close();
  }
}
