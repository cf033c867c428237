// What opencode loads once `holdfast connect opencode` has named it in its settings: runs the hook command when
// a turn is over. What was said, the service reads from opencode's own database.

import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join, resolve } from "node:path"

export const Holdfast = async ({ directory }, options) => {
  const [program, ...rest] = options?.command ?? []
  const data = join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "opencode")
  const store = resolve(data, process.env.OPENCODE_DB || "opencode.db")
  const subagents = new Set() // their sessions: nobody talks in them

  const tell = (event, session) =>
    new Promise((done) => {
      // Detached: a turn's end is often the end of opencode too. Whatever happens is not opencode's trouble.
      const hook = spawn(program, [event, ...rest], { stdio: ["pipe", "ignore", "ignore"], detached: true })
      hook.on("error", () => done())
      hook.on("close", () => done())
      hook.stdin.on("error", () => {})
      hook.stdin.end(JSON.stringify({ session_id: session, cwd: directory, transcript_path: store }))
    })

  return {
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      const session = sessionID ?? info?.id
      if (!program || !session) return
      if (event.type === "session.created" && info?.parentID) subagents.add(session)
      if (subagents.has(session)) return
      if (event.type === "session.idle") await tell("Stop", session)
      if (event.type === "session.deleted") await tell("SessionEnd", session)
    },
  }
}
