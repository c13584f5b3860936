"""Tests of the SMTP content filter between a real client and a real next host: no mail is lost."""

from __future__ import annotations

import contextlib
import smtplib
import socket
import threading
import time

import pytest

from tests.apps.mail.serving.fake_store import FakeStore, server
from tests.apps.mail.serving.next_host import next_host
from weigh.apps.mail.serving.server import SmtpRoute
from weigh.errors import FileError

pytest.importorskip("aiosmtpd")


HERE = ("127.0.0.1", 0)
SPAM = b"Subject: prize\r\n\r\nYou won.\r\n"
VERDICT = b'X-Weigh: spam, probability 0.999500; "prize" +2.50\r\n'
JUDGED = VERDICT + SPAM


@contextlib.contextmanager
def smtp_filter(tmp_path, port, store=None):
    with server(tmp_path / "s", store, SmtpRoute(HERE, ("127.0.0.1", port))) as addresses:
        yield addresses.smtp


@contextlib.contextmanager
def connect(address):
    with smtplib.SMTP(*address, local_hostname="client.example", timeout=10) as client:
        yield client


def free_port():
    with socket.socket() as unused:
        unused.bind(HERE)
        return unused.getsockname()[1]


def test_a_message_arrives_with_its_verdict(tmp_path):
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}
        assert host.handler.received == [("FROM:<a@example.org> size=28", ["TO:<b@example.org>"], JUDGED)]


def test_replies_are_those_of_the_next_host(tmp_path):
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        client.ehlo()
        assert client.docmd("MAIL", "FROM:<>") == (250, b"2.1.0 fine\n2.1.0 go on")
        assert client.docmd("RCPT", "TO:<b@example.org>") == (250, b"2.1.5 OK")
        assert client.data(SPAM) == (250, b"2.0.0 queued as 7")


def test_forwardable_extensions_of_the_next_host_are_offered(tmp_path):
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        client.ehlo()
        assert client.esmtp_features == {
            "pipelining": "", "size": "38976", "8bitmime": "", "smtputf8": "", "dsn": "", "help": "",
        }  # fmt: skip


def test_parameters_are_forwarded_verbatim(tmp_path):
    commands = [
        "MAIL FROM:<ü@example.org> BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=Ab+3D7",
        "RCPT TO:<ñ@example.org> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;Bob@example.org",
        'RCPT TO:<"a b>c"@example.org>',
    ]
    body = "Subject: prize\r\n\r\ngrüße\r\n".encode()
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        client.command_encoding = "utf-8"
        client.ehlo()
        for command in commands:
            assert client.docmd(command)[0] == 250
        assert client.data(body)[0] == 250
        assert host.handler.commands == commands
        assert host.handler.received[0][2] == VERDICT + body


def test_a_null_sender_is_kept(tmp_path):
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        client.sendmail("", ["b@example.org"], SPAM)
        assert host.handler.commands[0] == "MAIL FROM:<> size=28"


def test_rejected_recipients_are_reported_and_the_others_get_the_mail(tmp_path):
    rejections = {"gone": "550 5.1.1 no such person", "busy": "450 4.2.0 later"}
    recipients = [f"{name}@example.org" for name in ("ann", "gone", "busy", "bob")]
    with (
        next_host(rejections=rejections) as host,
        smtp_filter(tmp_path, host.port) as address,
        connect(address) as client,
    ):
        assert client.sendmail("a@example.org", recipients, SPAM) == {
            "gone@example.org": (550, b"5.1.1 no such person"),
            "busy@example.org": (450, b"4.2.0 later"),
        }
        assert host.handler.received[0][1] == ["TO:<ann@example.org>", "TO:<bob@example.org>"]


def test_dots_long_lines_and_bare_line_ends_are_forwarded_safely(tmp_path):
    body = b".\r\n..\r\n.a\r\n" + b"x" * 20_000 + b"\r\n\0\xff\r\n"
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        client.sendmail("a@example.org", ["b@example.org"], b"Subject: prize\r\n\r\n" + body)
        # A dot after a lone line feed must not end the message on any host.
        client.sendmail(
            "a@example.org", ["b@example.org"], b"Subject: prize\r\n\r\nA\n.\r\nMAIL FROM:<x>\rB\r\n"
        )
        first, second = (content for _, _, content in host.handler.received)
        assert first == VERDICT + b"Subject: prize\r\n\r\n" + body
        assert second == VERDICT + b"Subject: prize\r\n\r\nA\r\n..\r\nMAIL FROM:<x>\r\nB\r\n"


@pytest.mark.parametrize("reply", ["451 4.3.0 try later", "554 5.7.1 not here"])
def test_a_message_rejected_by_the_next_host_is_not_accepted(tmp_path, reply):
    with next_host(data_reply=reply) as host, smtp_filter(tmp_path, host.port) as address:
        with connect(address) as client, pytest.raises(smtplib.SMTPDataError) as caught:
            client.sendmail("a@example.org", ["b@example.org"], SPAM)
        assert (caught.value.smtp_code, caught.value.smtp_error) == (int(reply[:3]), reply[4:].encode())


def test_mail_is_deferred_while_the_next_host_does_not_answer(tmp_path):
    with smtp_filter(tmp_path, free_port()) as address, connect(address) as client:
        assert client.ehlo()[0] == 421
        client.helo()
        assert client.docmd("MAIL", "FROM:<a@example.org>") == (
            451,
            b"4.4.1 The next host does not answer; try again later",
        )


@contextlib.contextmanager
def odd_host(command, reply):
    """Run a next host that gives an odd reply to one command, or none, and disconnects; yield its port."""

    def serve():
        with contextlib.suppress(OSError):
            while True:
                line = listener.accept()[0]
                with line, line.makefile("rb") as commands:
                    line.sendall(b"220 next\r\n")
                    for line_bytes in commands:
                        if line_bytes.upper().startswith(command):
                            line.sendall(reply)
                            break
                        line.sendall(
                            b"354 go on\r\n" if line_bytes.upper().startswith(b"DATA") else b"250 OK\r\n"
                        )

    with socket.create_server(HERE) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("command", [b"MAIL", b"RCPT", b"DATA", b"X-WEIGH"])
@pytest.mark.parametrize("reply", [b"", b"421 4.3.2 closing\r\n", b"what?\r\n", b"199 odd\r\n"])
def test_mail_is_deferred_if_the_next_host_disconnects_or_violates_the_protocol(tmp_path, command, reply):
    with odd_host(command, reply) as port, smtp_filter(tmp_path, port) as address, connect(address) as client:
        client.ehlo()
        codes = [client.docmd("MAIL", "FROM:<a@x>")[0], client.docmd("RCPT", "TO:<b@x>")[0]]
        if codes == [250, 250]:
            codes.append(client.data(SPAM)[0])
        codes = [code for code in codes if code != 250]
        assert codes[0] == 451
        assert set(codes) <= {451, 503}


def test_mail_is_deferred_if_it_cannot_be_judged(tmp_path):
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        with pytest.raises(smtplib.SMTPDataError) as caught:
            client.sendmail("a@example.org", ["b@example.org"], b"Subject: fail\r\n\r\n")
        assert (caught.value.smtp_code, caught.value.smtp_error) == (
            451,
            b"4.3.0 The message could not be judged; try again later",
        )
        assert host.handler.received == []
        assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}


def test_the_filter_reconnects_to_a_next_host_that_has_disconnected(tmp_path):
    port = free_port()
    with smtp_filter(tmp_path, port) as address, contextlib.ExitStack() as stack:
        with next_host(port):
            client = stack.enter_context(connect(address))
            client.sendmail("a@example.org", ["b@example.org"], SPAM)
        with next_host(port) as host:
            assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}
            assert len(host.handler.received) == 1


def test_too_long_messages_are_rejected_and_their_transaction_aborted(tmp_path, monkeypatch):
    import weigh.apps.mail.serving.smtp as smtp_module

    monkeypatch.setattr(smtp_module, "MAX_MESSAGE_BYTES", 30_000)
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as client:
        client.ehlo()
        client.mail("a@example.org")
        client.rcpt("b@example.org")
        assert client.data(b"x: y\r\n" * 6_000)[0] == 552
        assert host.handler.received == []
        assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}


def test_pipelined_commands_are_answered_in_order(tmp_path):
    with (
        next_host(rejections={"gone": "550 5.1.1 no such person"}) as host,
        smtp_filter(tmp_path, host.port) as address,
        socket.create_connection(address, 10) as line,
        line.makefile("rb") as replies,
    ):
        line.sendall(b"EHLO c\r\n")
        while not replies.readline().startswith(b"250 "):
            pass
        line.sendall(
            b"MAIL FROM:<a@x>\r\nRCPT TO:<gone@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n"
            + SPAM
            + b".\r\nRSET\r\nQUIT\r\n"
        )
        assert [reply[:4] for reply in replies] == [
            b"250-", b"250 ", b"550 ", b"250 ", b"354 ", b"250 ", b"250 ", b"221 ",
        ]  # fmt: skip
        assert len(host.handler.received) == 1


@pytest.mark.parametrize("argument", ["FROM:<a\rRCPT TO:<b>", "FROM:<a\0>", ""])
def test_arguments_with_control_characters_are_not_forwarded(tmp_path, argument):
    with (
        next_host() as host,
        smtp_filter(tmp_path, host.port) as address,
        socket.create_connection(address, 10) as line,
        line.makefile("rb") as replies,
    ):
        line.sendall(b"HELO c\r\nMAIL " + argument.encode() + b"\r\nRCPT TO:<b@x>\r\nDATA\r\nQUIT\r\n")
        assert [reply[:3] for reply in replies] == [b"220", b"250", b"501", b"503", b"503", b"221"]
        assert host.handler.commands == []


def test_many_clients_are_served_concurrently(tmp_path):
    def send(number):
        with connect(address) as client:
            for i in range(5):
                content = b"Subject: prize %d %d\r\n\r\n" % (number, i)
                client.sendmail("a@example.org", [f"b{number}@example.org"], content)

    with next_host() as host, smtp_filter(tmp_path, host.port) as address:
        threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(host.handler.received) == 40
        assert all(b"prize " + to[0][5:6].encode() in content for _, to, content in host.handler.received)


def test_too_many_clients_are_rejected_temporarily(tmp_path, monkeypatch):
    import weigh.apps.mail.serving.smtp as smtp_module

    monkeypatch.setattr(smtp_module, "MAX_CLIENTS", 1)
    with next_host() as host, smtp_filter(tmp_path, host.port) as address, connect(address) as first:
        with pytest.raises(smtplib.SMTPConnectError) as caught, connect(address):
            pass
        assert caught.value.smtp_code == 421
        assert first.sendmail("a@example.org", ["b@example.org"], SPAM) == {}


def test_an_incomplete_message_of_a_dead_client_is_not_forwarded(tmp_path):
    with next_host() as host, smtp_filter(tmp_path, host.port) as address:
        with socket.create_connection(address, 10) as line:
            line.sendall(b"HELO c\r\nMAIL FROM:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n" + SPAM)
            while b"354" not in line.recv(4096):
                pass
        with connect(address) as client:
            assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}
        assert [sender for sender, _, _ in host.handler.received] == ["FROM:<a@example.org> size=28"]


def test_a_message_that_is_being_forwarded_is_finished_before_shutdown(tmp_path):
    outcomes = []

    def send(address):
        with contextlib.suppress(smtplib.SMTPServerDisconnected), connect(address) as client:
            outcomes.append(client.sendmail("a@example.org", ["b@example.org"], SPAM))
            outcomes.append(client.sock.recv(1))

    with next_host(pause=0.4) as host:
        with smtp_filter(tmp_path, host.port) as address:
            with connect(address) as earlier:
                earlier.noop()
            time.sleep(0.1)
            with connect(address) as idle:
                idle.noop()
                thread = threading.Thread(target=send, args=(address,))
                thread.start()
                time.sleep(0.2)
                stop_time = time.monotonic()
        thread.join()
        assert outcomes == [{}, b""]
        assert len(host.handler.received) == 1
        assert time.monotonic() - stop_time < 10


def test_an_address_in_use_is_reported(tmp_path):
    with socket.create_server(HERE) as other:
        port = other.getsockname()[1]
        with (
            pytest.raises(FileError, match=f"^127.0.0.1:{port}: the server cannot listen there: "),
            server(tmp_path / "s", FakeStore(), SmtpRoute(("127.0.0.1", port), HERE)),
        ):
            pass
