export function ChatView() {
  return null;
}
