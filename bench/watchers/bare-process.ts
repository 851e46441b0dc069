/** The floor: a bare WebSocket server that sends each text it is given to all of its sockets. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
process.on('message', (text: string) => {
  for (const socket of sockets.clients) {
    socket.send(text);
  }
});
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
