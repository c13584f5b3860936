"""The content filter, between a real client and a real next host, loses nothing."""

from __future__ import annotations

import contextlib
import smtplib
import socket
import threading
import time

import pytest

from tests.apps.mail.serving.fake_store import StandIn, server
from tests.apps.mail.serving.next_host import next_host
from weigh.apps.mail.serving.server import SmtpRoute
from weigh.errors import FileError

pytest.importorskip("aiosmtpd")


HERE = ("127.0.0.1", 0)
SPAM = b"Subject: prize\r\n\r\nYou won.\r\n"
VERDICT = b'X-Weigh: spam, probability 0.999500; "prize" +2.50\r\n'
JUDGED = VERDICT + SPAM


@contextlib.contextmanager
def filtering(tmp_path, port, store=None):
    with server(tmp_path / "s", store, SmtpRoute(HERE, ("127.0.0.1", port))) as places:
        yield places.smtp


@contextlib.contextmanager
def talking(address):
    with smtplib.SMTP(*address, local_hostname="client.example", timeout=10) as client:
        yield client


def free_port():
    with socket.socket() as unused:
        unused.bind(HERE)
        return unused.getsockname()[1]


def test_a_message_arrives_with_its_verdict(tmp_path):
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}
        assert host.handler.taken == [("FROM:<a@example.org> size=28", ["TO:<b@example.org>"], JUDGED)]


def test_the_reply_to_a_message_is_that_of_the_next_host(tmp_path):
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        client.ehlo()
        assert client.docmd("MAIL", "FROM:<>") == (250, b"2.1.0 fine\n2.1.0 go on")
        assert client.docmd("RCPT", "TO:<b@example.org>") == (250, b"2.1.5 OK")
        assert client.data(SPAM) == (250, b"2.0.0 queued as 7")


def test_the_extensions_of_the_next_host_are_offered_as_far_as_they_can_be_passed_on(tmp_path):
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        client.ehlo()
        assert client.esmtp_features == {
            "pipelining": "", "size": "38976", "8bitmime": "", "smtputf8": "", "dsn": "", "help": "",
        }  # fmt: skip


def test_parameters_are_passed_on_as_they_came(tmp_path):
    said = [
        "MAIL FROM:<ü@example.org> BODY=8BITMIME SMTPUTF8 RET=HDRS ENVID=Ab+3D7",
        "RCPT TO:<ñ@example.org> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;Bob@example.org",
        'RCPT TO:<"a b>c"@example.org>',
    ]
    body = "Subject: prize\r\n\r\ngrüße\r\n".encode()
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        client.command_encoding = "utf-8"
        client.ehlo()
        for each in said:
            assert client.docmd(each)[0] == 250
        assert client.data(body)[0] == 250
        assert host.handler.said == said
        assert host.handler.taken[0][2] == VERDICT + body


def test_a_null_sender_stays_one(tmp_path):
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        client.sendmail("", ["b@example.org"], SPAM)
        assert host.handler.said[0] == "MAIL FROM:<> size=28"


def test_refused_recipients_are_refused_and_the_others_get_the_mail(tmp_path):
    refuses = {"gone": "550 5.1.1 no such person", "busy": "450 4.2.0 later"}
    people = [f"{name}@example.org" for name in ("ann", "gone", "busy", "bob")]
    with (
        next_host(refuses=refuses) as host,
        filtering(tmp_path, host.port) as address,
        talking(address) as client,
    ):
        assert client.sendmail("a@example.org", people, SPAM) == {
            "gone@example.org": (550, b"5.1.1 no such person"),
            "busy@example.org": (450, b"4.2.0 later"),
        }
        assert host.handler.taken[0][1] == ["TO:<ann@example.org>", "TO:<bob@example.org>"]


def test_dots_long_lines_and_odd_line_ends_pass(tmp_path):
    body = b".\r\n..\r\n.a\r\n" + b"x" * 20_000 + b"\r\n\0\xff\r\n"
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        client.sendmail("a@example.org", ["b@example.org"], b"Subject: prize\r\n\r\n" + body)
        # A dot after a lone line feed must not end the message anywhere.
        client.sendmail(
            "a@example.org", ["b@example.org"], b"Subject: prize\r\n\r\nA\n.\r\nMAIL FROM:<x>\rB\r\n"
        )
        first, second = (content for _, _, content in host.handler.taken)
        assert first == VERDICT + b"Subject: prize\r\n\r\n" + body
        assert second == VERDICT + b"Subject: prize\r\n\r\nA\r\n..\r\nMAIL FROM:<x>\r\nB\r\n"


@pytest.mark.parametrize("reply", ["451 4.3.0 try later", "554 5.7.1 not here"])
def test_what_the_next_host_refuses_is_not_accepted(tmp_path, reply):
    with next_host(data_reply=reply) as host, filtering(tmp_path, host.port) as address:
        with talking(address) as client, pytest.raises(smtplib.SMTPDataError) as refusal:
            client.sendmail("a@example.org", ["b@example.org"], SPAM)
        assert (refusal.value.smtp_code, refusal.value.smtp_error) == (int(reply[:3]), reply[4:].encode())


def test_mail_waits_while_the_next_host_is_away(tmp_path):
    with filtering(tmp_path, free_port()) as address, talking(address) as client:
        assert client.ehlo()[0] == 421
        client.helo()
        assert client.docmd("MAIL", "FROM:<a@example.org>") == (
            451,
            b"4.4.1 The next host does not answer; try again later",
        )


@contextlib.contextmanager
def odd_host(command, reply):
    """A next host that says something odd to one command, or hangs up without a reply; its port."""

    def talk():
        with contextlib.suppress(OSError):
            while True:
                line = listener.accept()[0]
                with line, line.makefile("rb") as heard:
                    line.sendall(b"220 next\r\n")
                    for said in heard:
                        if said.upper().startswith(command):
                            line.sendall(reply)
                            break
                        line.sendall(b"354 go on\r\n" if said.upper().startswith(b"DATA") else b"250 OK\r\n")

    with socket.create_server(HERE) as listener:
        thread = threading.Thread(target=talk)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("command", [b"MAIL", b"RCPT", b"DATA", b"X-WEIGH"])
@pytest.mark.parametrize("reply", [b"", b"421 4.3.2 closing\r\n", b"what?\r\n", b"199 odd\r\n"])
def test_mail_waits_if_the_next_host_hangs_up_or_talks_nonsense(tmp_path, command, reply):
    with odd_host(command, reply) as port, filtering(tmp_path, port) as address, talking(address) as client:
        client.ehlo()
        codes = [client.docmd("MAIL", "FROM:<a@x>")[0], client.docmd("RCPT", "TO:<b@x>")[0]]
        if codes == [250, 250]:
            codes.append(client.data(SPAM)[0])
        codes = [code for code in codes if code != 250]
        assert codes[0] == 451
        assert set(codes) <= {451, 503}


def test_mail_waits_if_it_cannot_be_judged(tmp_path):
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        with pytest.raises(smtplib.SMTPDataError) as refusal:
            client.sendmail("a@example.org", ["b@example.org"], b"Subject: fail\r\n\r\n")
        assert (refusal.value.smtp_code, refusal.value.smtp_error) == (
            451,
            b"4.3.0 The message could not be judged; try again later",
        )
        assert host.handler.taken == []
        assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}


def test_a_next_host_that_has_hung_up_meanwhile_is_called_again(tmp_path):
    port = free_port()
    with filtering(tmp_path, port) as address, contextlib.ExitStack() as stack:
        with next_host(port):
            client = stack.enter_context(talking(address))
            client.sendmail("a@example.org", ["b@example.org"], SPAM)
        with next_host(port) as host:
            assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}
            assert len(host.handler.taken) == 1


def test_messages_that_are_too_long_are_refused_and_forgotten(tmp_path, monkeypatch):
    import weigh.apps.mail.serving.smtp as serving

    monkeypatch.setattr(serving, "MAX_MESSAGE_BYTES", 30_000)
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as client:
        client.ehlo()
        client.mail("a@example.org")
        client.rcpt("b@example.org")
        assert client.data(b"x: y\r\n" * 6_000)[0] == 552
        assert host.handler.taken == []
        assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}


def test_pipelined_commands_are_answered_in_order(tmp_path):
    with (
        next_host(refuses={"gone": "550 5.1.1 no such person"}) as host,
        filtering(tmp_path, host.port) as address,
        socket.create_connection(address, 10) as line,
        line.makefile("rb") as heard,
    ):
        line.sendall(b"EHLO c\r\n")
        while not heard.readline().startswith(b"250 "):
            pass
        line.sendall(
            b"MAIL FROM:<a@x>\r\nRCPT TO:<gone@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n"
            + SPAM
            + b".\r\nRSET\r\nQUIT\r\n"
        )
        assert [reply[:4] for reply in heard] == [
            b"250-", b"250 ", b"550 ", b"250 ", b"354 ", b"250 ", b"250 ", b"221 ",
        ]  # fmt: skip
        assert len(host.handler.taken) == 1


@pytest.mark.parametrize("argument", ["FROM:<a\rRCPT TO:<b>", "FROM:<a\0>", ""])
def test_arguments_that_could_be_commands_are_not_passed_on(tmp_path, argument):
    with (
        next_host() as host,
        filtering(tmp_path, host.port) as address,
        socket.create_connection(address, 10) as line,
        line.makefile("rb") as heard,
    ):
        line.sendall(b"HELO c\r\nMAIL " + argument.encode() + b"\r\nRCPT TO:<b@x>\r\nDATA\r\nQUIT\r\n")
        assert [reply[:3] for reply in heard] == [b"220", b"250", b"501", b"503", b"503", b"221"]
        assert host.handler.said == []


def test_many_clients_at_once(tmp_path):
    def send(number):
        with talking(address) as client:
            for at in range(5):
                content = b"Subject: prize %d %d\r\n\r\n" % (number, at)
                client.sendmail("a@example.org", [f"b{number}@example.org"], content)

    with next_host() as host, filtering(tmp_path, host.port) as address:
        threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert len(host.handler.taken) == 40
        assert all(b"prize " + to[0][5:6].encode() in content for _, to, content in host.handler.taken)


def test_too_many_clients_are_sent_away_for_now(tmp_path, monkeypatch):
    import weigh.apps.mail.serving.smtp as serving

    monkeypatch.setattr(serving, "MAX_CLIENTS", 1)
    with next_host() as host, filtering(tmp_path, host.port) as address, talking(address) as first:
        with pytest.raises(smtplib.SMTPConnectError) as refusal, talking(address):
            pass
        assert refusal.value.smtp_code == 421
        assert first.sendmail("a@example.org", ["b@example.org"], SPAM) == {}


def test_a_client_that_dies_before_the_end_sends_nothing(tmp_path):
    with next_host() as host, filtering(tmp_path, host.port) as address:
        with socket.create_connection(address, 10) as line:
            line.sendall(b"HELO c\r\nMAIL FROM:<a@x>\r\nRCPT TO:<b@x>\r\nDATA\r\n" + SPAM)
            while b"354" not in line.recv(4096):
                pass
        with talking(address) as client:
            assert client.sendmail("a@example.org", ["b@example.org"], SPAM) == {}
        assert [sender for sender, _, _ in host.handler.taken] == ["FROM:<a@example.org> size=28"]


def test_a_message_that_is_being_passed_on_is_finished_before_the_end(tmp_path):
    outcome = []

    def send(address):
        with contextlib.suppress(smtplib.SMTPServerDisconnected), talking(address) as client:
            outcome.append(client.sendmail("a@example.org", ["b@example.org"], SPAM))
            outcome.append(client.sock.recv(1))

    with next_host(pause=0.4) as host:
        with filtering(tmp_path, host.port) as address:
            with talking(address) as earlier:
                earlier.noop()
            time.sleep(0.1)
            with talking(address) as idle:
                idle.noop()
                sending = threading.Thread(target=send, args=(address,))
                sending.start()
                time.sleep(0.2)
                stopped = time.monotonic()
        sending.join()
        assert outcome == [{}, b""]
        assert len(host.handler.taken) == 1
        assert time.monotonic() - stopped < 10


def test_an_address_in_use_is_told_in_words(tmp_path):
    with socket.create_server(HERE) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(FileError, match=f"^127.0.0.1:{port}: the server cannot listen there: "),
            server(tmp_path / "s", StandIn(), SmtpRoute(("127.0.0.1", port), HERE)),
        ):
            pass
