package runboard;

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.io.IOException;
import java.util.List;

/** Serves on a free port of 127.0.0.1, prints the connection string, and ends when standard input does. */
public final class WireServer {
  /** The server's own version is older than what the current driver talks to, although it does all we use. */
  private static final class NewEnough implements MongoVersion {
    @Override
    public List<Integer> getVersionArray() {
      return List.of(6, 0, 0);
    }

    @Override
    public int getWireVersion() {
      return 17;
    }
  }

  public static void main(String[] arguments) throws IOException {
    MongoServer server = new MongoServer(new MemoryBackend().version(new NewEnough()));
    server.bind("127.0.0.1", 0);
    System.out.println("mongodb://127.0.0.1:" + server.getLocalAddress().getPort());
    while (System.in.read() >= 0) {
      // Only the end matters.
    }
    server.shutdownNow();
  }
}
